import { fuzzOf } from './fuzz.ts'

fuzzOf('cash')
