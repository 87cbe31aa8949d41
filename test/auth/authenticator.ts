import { totp } from '../../db/auth/second-factor.ts'

const fromBase32 = (text: string): Buffer => {
  const bits = text
    .split('')
    .map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'))
    .join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

const step = (offset = 0) => Math.floor(Date.now() / 30_000) + offset

/** The bytes of a secret as an app is given it. */
export const secretBytes = fromBase32

/** The code that an app shows for a secret now, or the given number of steps away. */
export const codeOf = (secret: string, offset = 0): string => totp(fromBase32(secret), step(offset))

/** A code that is right at no step near now. */
export const wrongCode = (secret: string): string => {
  const right = [-2, -1, 0, 1, 2].map((offset) => codeOf(secret, offset))
  return ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !right.includes(code)) ?? '666666'
}

/** A step must not end between making a code and sending it. */
export const roomInStep = async (ms = 3_000) => {
  const left = 30_000 - (Date.now() % 30_000)
  if (left < ms) await new Promise((resolve) => setTimeout(resolve, left + 20))
}
