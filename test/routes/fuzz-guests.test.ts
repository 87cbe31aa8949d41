import { fuzzOf } from './fuzz.ts'

fuzzOf('guests')
