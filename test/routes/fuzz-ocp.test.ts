import { fuzzOf } from './fuzz.ts'

fuzzOf('ocp')
