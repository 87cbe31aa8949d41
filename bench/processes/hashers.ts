import { availableParallelism } from 'node:os'
import { hashPassword } from '../../db/auth/index.ts'
import { given, onAsk, tell } from '../child.ts'

/** Hashes passwords without a pause, as many at once as an api does, and does nothing else. */
const { password } = given<{ password: string }>()
let isOver = true
let hashing: Promise<unknown> = Promise.resolve()

const lane = async () => {
  while (!isOver) await hashPassword(password)
}

onAsk('begin', () => {
  isOver = false
  hashing = Promise.all(Array.from({ length: availableParallelism() }, lane))
  return Promise.resolve({})
})
onAsk('end', async () => {
  isOver = true
  await hashing
  return {}
})
tell({ type: 'ready' })
process.once('disconnect', () => process.exit())
process.once('SIGTERM', () => process.exit())
