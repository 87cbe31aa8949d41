import { unprocessable } from '../../config/errors.ts'
import { passwordLimits as limits } from '../../config/limits.ts'
import { threads } from './threads.ts'

// The words are read when a password is first judged, in a thread that ends a minute after the last: a process that judges none has none of them.
const guesses = threads<{ text: string; known: string[] }, number>({
  most: 1,
  file: new URL('./guesses-thread.js', import.meta.url),
  heapMb: 192,
  idleMs: 60_000,
})

// The estimate grows faster than the text: what follows these characters adds nothing to it.
const mostJudged = 32

/** Powers of ten that a password must take to guess; fewer beside a second factor, where it may be shorter. */
const leastGuesses = { alone: 10, withMfa: 7 }

type Judged = { email?: string; mfaEnabled?: boolean }

/**
 * Tells whether a password falls to guesses by words, names, leaked passwords, rows of keys, dates and repetitions, in the languages of our
 * properties, in whatever writing.
 */
export const isGuessable = async (
  password: string,
  { email = '', mfaEnabled = false }: Judged = {},
): Promise<boolean> => {
  const text = Array.from(password).slice(0, mostJudged).join('')
  const known = ['pousada', ...email.split(/[@.+_-]/).filter((part) => part.length >= 3)]
  return (await guesses({ text, known })) < (mfaEnabled ? leastGuesses.withMfa : leastGuesses.alone)
}

const weak = (message: string) => unprocessable('password_too_weak', message)

/**
 * Throws 422 `password_too_weak`. Lengths are in characters: 12 to 128, from 8 where a second factor stands beside the password. Not for the inside
 * of a transaction: the first password takes half a second.
 */
export const assertStrong = async (
  password: string,
  email: string,
  { mfaEnabled = false }: Pick<Judged, 'mfaEnabled'> = {},
): Promise<void> => {
  const { length } = Array.from(password)
  const least = mfaEnabled ? limits.leastWithMfa : limits.least
  if (length < least || length > limits.most) throw weak(`Choose a password of ${least} to ${limits.most} characters`)
  const local = email.split('@')[0]?.toLowerCase() ?? ''
  if (local.length >= 3 && password.toLowerCase().includes(local))
    throw weak('Choose a password without your e-mail address in it')
  if (await isGuessable(password, { email, mfaEnabled }))
    throw weak('This password is among those that are tried first; choose another')
}
