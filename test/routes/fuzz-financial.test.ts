import { fuzzOf } from './fuzz.ts'

fuzzOf('financial')
