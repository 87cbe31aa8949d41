import { fuzzOf } from './fuzz.ts'

fuzzOf('accounts-receivable')
