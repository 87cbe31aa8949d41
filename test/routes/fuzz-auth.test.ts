import { fuzzOf } from './fuzz.ts'

fuzzOf('auth')
