import { model } from '../lib/models.ts'

export const Guest = model('guest')
