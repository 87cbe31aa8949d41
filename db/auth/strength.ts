import { unprocessable } from '../../config/errors.ts'
import { passwordLimits as limits } from '../../config/limits.ts'
import { commonWords } from './common-passwords.ts'

const keyboards = ['qwertyuiop', 'asdfghjkl', 'zxcvbnm', 'azertyuiop', '1234567890', 'abcdefghijklmnopqrstuvwxyz']
const runs = [...keyboards, ...keyboards.map((row) => row.split('').toReversed().join(''))]

const plain: Record<string, string> = {
  '@': 'a',
  '4': 'a',
  '3': 'e',
  '1': 'i',
  '!': 'i',
  '0': 'o',
  $: 's',
  '5': 's',
  '7': 't',
}
const unmasked = (text: string) => Array.from(text, (letter) => plain[letter] ?? letter).join('')

const startsRun = (text: string): number => {
  for (let length = text.length; length >= 3; length -= 1)
    if (runs.some((run) => (run + run).includes(text.slice(0, length)))) return length
  return 0
}

const wordAt = (text: string): string => commonWords.find((common) => text.startsWith(common)) ?? ''
const repeatedAt = (text: string): number => /^(.)\1{2,}/u.exec(text)?.[0].length ?? 0

const mostOfOwn = 3
const mostWords = 3

/** Whether nothing, or next to nothing, is left of a text once a few common words, rows of keys, digits and signs are taken out. */
const isCheap = (text: string): boolean => {
  let own = 0
  const words = new Set<string>()
  for (let at = 0; at < text.length;) {
    const rest = text.slice(at)
    const word = wordAt(rest)
    const run = Math.max(repeatedAt(rest), startsRun(rest))
    if (word.length > run) words.add(word)
    const length = Math.max(word.length, run) || (/^\P{L}/u.test(rest) ? 1 : 0)
    if (length === 0) own += 1
    if (own > mostOfOwn || words.size > mostWords) return false
    at += length || 1
  }
  return true
}

const repeats = (text: string) => /^(.{1,8})\1+(.{0,7})$/su.test(text)

/** Whether a password is one that is tried first: common words, in whatever writing, with whatever digits and signs around them. */
export const isCommon = (password: string): boolean => {
  const lower = password.toLowerCase()
  return repeats(lower) || isCheap(lower) || isCheap(unmasked(lower))
}

const weak = (message: string) => unprocessable('password_too_weak', message)

/** Throws 422 `password_too_weak`. Lengths are in characters: 12 to 128, from 8 where a second factor stands beside the password. */
export const assertStrong = (password: string, email: string, { mfaEnabled = false } = {}): void => {
  const { length } = Array.from(password)
  const least = mfaEnabled ? limits.leastWithMfa : limits.least
  if (length < least || length > limits.most) throw weak(`Choose a password of ${least} to ${limits.most} characters`)
  const local = email.split('@')[0]?.toLowerCase() ?? ''
  if (local.length >= 3 && password.toLowerCase().includes(local))
    throw weak('Choose a password without your e-mail address in it')
  if (isCommon(password)) throw weak('This password is among those that are tried first; choose another')
}
