import { fuzzOf } from './fuzz.ts'

fuzzOf('accounts-payable')
