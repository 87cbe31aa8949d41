import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const fresh = () => randomBytes(32).toString('base64url')

const pasetoSecret = () => {
  const { privateKey } = generateKeyPairSync('ed25519')
  const { d = '', x = '' } = privateKey.export({ format: 'jwk' })
  return `k4.secret.${Buffer.concat([Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')]).toString('base64url')}`
}

/** Fresh keys; `id` names those that have successors one day. */
export const freshKeys = (id = 'dev1') => ({
  passwords: { admin: fresh(), owner: fresh(), service: fresh(), redis: fresh() },
  /** In the words of config/env.ts. */
  environment: {
    PASETO_KEYS: `${id}:active:${pasetoSecret()}`,
    TOKEN_KEY: fresh(),
    PEPPERS: `${id}:${fresh()}`,
    DATA_KEY: `${id}:${fresh()}`,
    INDEX_KEY: fresh(),
  },
})

export type Keys = ReturnType<typeof freshKeys>

/** The keys of an embedded start: made once, kept in a file that only its owner reads. Losing it loses what is sealed. */
export const developmentKeys = (directory: string): Keys => {
  const file = join(directory, 'keys.json')
  const kept = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Partial<Keys>) : {}
  const made = freshKeys()
  const keys = {
    passwords: { ...made.passwords, ...kept.passwords },
    environment: { ...made.environment, ...kept.environment },
  }
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600 })
  chmodSync(draft, 0o600)
  renameSync(draft, file)
  return keys
}
