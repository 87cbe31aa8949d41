import { model } from '../lib/models.ts'

export const Book = model('book')
