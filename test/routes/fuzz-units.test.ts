import { fuzzOf } from './fuzz.ts'

fuzzOf('units')
