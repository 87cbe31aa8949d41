import { fuzzOf } from './fuzz.ts'

fuzzOf('payment', 'reservations')
