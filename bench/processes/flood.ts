import { existsSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { clientOf } from '../../test/support/client.ts'
import { given, onAsk, tell } from '../child.ts'

/** Signs in, so many at once and again and again, each from an address of its own, until it is told to stop. */
const { baseUrl, emails, password, atOnce } = given<{
  baseUrl: string
  emails: string[]
  password: string
  atOnce: number
}>()
const here = clientOf(baseUrl)
let outcomes: Record<string, number> = {}
let isOver = false
let flooding: Promise<void> = Promise.resolve()

const part = () => Math.floor(Math.random() * 250)

const signIn = async (number: number) => {
  const headers = { 'x-forwarded-for': `10.${number}.${part()}.${part()}` }
  const body = { email: emails[number % emails.length], password }
  const { status } = await here('POST', '/api/auth/sign-in/email', { body, headers })
  outcomes[status] = (outcomes[status] ?? 0) + 1
}

const waves = async () => {
  while (!isOver) await Promise.all(Array.from({ length: atOnce }, (_, number) => signIn(number)))
}

// Its clients would be on machines of their own: they get what the server leaves of this one. Linux may weigh whole sessions, this being one.
setPriority(19)
if (existsSync('/proc/self/autogroup')) writeFileSync('/proc/self/autogroup', '19')

onAsk('begin', () => {
  isOver = false
  outcomes = {}
  flooding = waves()
  return Promise.resolve({})
})
onAsk('end', async () => {
  isOver = true
  await flooding
  return { outcomes }
})
tell({ type: 'ready' })
process.once('disconnect', () => process.exit())
process.once('SIGTERM', () => process.exit())
