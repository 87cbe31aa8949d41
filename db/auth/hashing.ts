import { createHmac, randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { Counter, Gauge } from 'prom-client'
import { required, settings } from '../../config/env.ts'
import { tooMany } from '../../config/errors.ts'
import { registry } from '../../config/metrics.ts'
import { threads } from './threads.ts'

const parameters = () => ({
  memoryCost: settings.passwordMemoryKib,
  timeCost: settings.passwordPasses,
  parallelism: 1,
})
/** The beginning of each hash that has the cost in use. */
const prefix = () => {
  const { memoryCost, timeCost, parallelism } = parameters()
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$`
}
const atOnce = availableParallelism()
const mostWaiting = 50
/** That may wait or be under way at once. */
export const hashingPlaces = atOnce + mostWaiting

type Parameters = { memoryCost: number; timeCost: number; parallelism: number }
/** A text to hash, or to compare with the hash `against`. */
type Task = { text: string; against: string | null; parameters: Parameters }

/** Threads of the lowest priority that hash, so that neither the loop nor libuv's four threads do. What they need lies outside of V8. */
export const hashingThreads = (most: number, file = new URL('./hashing-thread.js', import.meta.url)) =>
  threads<Task, string | boolean>({ most, file, heapMb: 32 })

// One core is left to the requests, where there is more than one.
const inThread = hashingThreads(Math.max(1, atOnce - 1))

let running = 0
const waiting: (() => void)[] = []

const hashes = new Gauge({
  name: 'password_hashes',
  help: 'Passwords being hashed, and those that wait for it',
  labelNames: ['state'],
  registers: [registry],
  collect() {
    this.set({ state: 'running' }, running)
    this.set({ state: 'waiting' }, waiting.length)
  },
})
hashes.set({ state: 'running' }, 0)

const done = new Counter({
  name: 'password_hashes_total',
  help: 'Passwords that were hashed, to be stored or to be compared',
  labelNames: ['purpose'],
  registers: [registry],
})
done.inc({ purpose: 'store' }, 0)
done.inc({ purpose: 'compare' }, 0)

export const hashingBusy = () => tooMany('hashing_busy', 'Too many sign-ins at once; try again', 2)

/** Tells whether a further request to hash a password is refused now. */
export const isHashingFull = (): boolean => waiting.length >= mostWaiting

/**
 * Work that hashes, once its turn has come: at most one per core at once, 50 more wait, then 429 `hashing_busy`. Nothing inside may wait for
 * a turn of its own.
 */
export const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
  if (running >= atOnce) {
    if (isHashingFull()) throw hashingBusy()
    await new Promise<void>((resolve) => waiting.push(resolve))
  } else running += 1
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next) next()
    else running -= 1
  }
}

const pepper = (id?: string) => {
  const found = id === undefined ? settings.peppers[0] : settings.peppers.find((candidate) => candidate.id === id)
  return required(found, 'PEPPERS')
}

const peppered = (password: string, key: Buffer) =>
  createHmac('sha256', key).update(password, 'utf8').digest('base64url')

export type PasswordHash = { passwordHash: string; pepperId: string }

const hashNow = async (password: string): Promise<PasswordHash> => {
  const { id, key } = pepper()
  done.inc({ purpose: 'store' })
  const passwordHash = await inThread({ text: peppered(password, key), against: null, parameters: parameters() })
  return { passwordHash: String(passwordHash), pepperId: id }
}

/** argon2id over the password under a pepper, in its turn. */
export const hashPassword = (password: string): Promise<PasswordHash> => inTurn(() => hashNow(password))

let dummy: { prefix: string; hash: Promise<PasswordHash> } | null = null

/** A hash of the cost in use that no password fits, made once. */
const noPassword = (): Promise<PasswordHash> => {
  if (dummy?.prefix !== prefix()) {
    const hash = hashNow(randomBytes(24).toString('base64url')).catch((error: unknown) => {
      dummy = null
      throw error
    })
    dummy = { prefix: prefix(), hash }
  }
  return dummy.hash
}

/** Compares in equal time whether or not there is a hash. The caller must have been admitted. */
export const compareNow = async (password: string, stored: PasswordHash | null): Promise<boolean> => {
  // Awaited by all, so that the first of a process waits as long for an account that is there.
  const none = await noPassword()
  const against = stored ?? none
  done.inc({ purpose: 'compare' })
  const text = peppered(password, pepper(against.pepperId).key)
  const same = await inThread({ text, against: against.passwordHash, parameters: parameters() })
  return stored !== null && same === true
}

/** Tells whether a hash was made with other parameters or another pepper than those in use. */
export const isOutdated = ({ passwordHash, pepperId }: PasswordHash): boolean =>
  pepperId !== pepper().id || !passwordHash.startsWith(prefix())
