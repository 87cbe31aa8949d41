import { fuzzOf } from './fuzz.ts'

fuzzOf('webhooks')
