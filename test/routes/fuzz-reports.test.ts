import { fuzzOf } from './fuzz.ts'

fuzzOf('reports')
