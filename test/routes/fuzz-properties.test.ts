import { fuzzOf } from './fuzz.ts'

fuzzOf('properties')
