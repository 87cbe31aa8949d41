import { fuzzOf } from './fuzz.ts'

fuzzOf('issues')
