import { fuzzOf } from './fuzz.ts'

fuzzOf('admin')
