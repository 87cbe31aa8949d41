import { fuzzOf } from './fuzz.ts'

fuzzOf('financial', 'guests', 'payment', 'reservations')
