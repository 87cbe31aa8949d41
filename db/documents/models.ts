import { model } from '../lib/models.ts'

export const NumberJump = model('number_jump')
