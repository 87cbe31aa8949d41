import { createHmac, randomBytes } from 'node:crypto'

const prefix = 'whsec_'

/** A secret of Standard Webhooks: 32 random bytes. */
export const newSecret = (): string => `${prefix}${randomBytes(32).toString('base64')}`

/** The header `webhook-signature` of Standard Webhooks: one signature for each valid secret. */
export const signatureOf = (
  secrets: readonly string[],
  { id, timestamp, body }: { id: string; timestamp: number; body: string },
): string =>
  secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(prefix.length), 'base64')
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
    })
    .join(' ')
