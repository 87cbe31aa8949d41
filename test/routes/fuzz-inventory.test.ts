import { fuzzOf } from './fuzz.ts'

fuzzOf('inventory')
