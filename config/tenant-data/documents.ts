import { rows } from './table.ts'

export const documentsData = [...rows('number_series', 'number_jump')]
