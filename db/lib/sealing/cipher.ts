import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const version = 1
const nonceBytes = 12
const tagBytes = 16

/** AES-256-GCM: version byte, nonce, ciphertext, tag. `bound` is what the ciphertext belongs to; elsewhere it does not open. */
export const encrypt = (key: Buffer, bound: string, plain: Buffer): Buffer => {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(bound))
  return Buffer.concat([Buffer.of(version), nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** Throws where the key, the place or a single bit is another. */
export const decrypt = (key: Buffer, bound: string, sealed: Buffer): Buffer => {
  if (sealed.length < 1 + nonceBytes + tagBytes || sealed[0] !== version) throw new Error('this is not a sealed value')
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, 1 + nonceBytes), { authTagLength: tagBytes })
  decipher.setAAD(Buffer.from(bound)).setAuthTag(sealed.subarray(-tagBytes))
  return Buffer.concat([decipher.update(sealed.subarray(1 + nonceBytes, -tagBytes)), decipher.final()])
}
