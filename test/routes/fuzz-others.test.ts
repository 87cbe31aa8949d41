import { fuzzOf } from './fuzz.ts'

fuzzOf('financial', 'guests', 'payments', 'reservations')
