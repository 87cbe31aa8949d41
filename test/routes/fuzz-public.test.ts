import { fuzzOf } from './fuzz.ts'

fuzzOf('public')
