import { model } from '../lib/models.ts'

export const Message = model('message')
