import { pino } from 'pino'
import { settings } from './env.ts'

const secret = [
  'password',
  'newPassword',
  'currentPassword',
  'token',
  'guestToken',
  'authorization',
  'cookie',
  'cardToken',
  'secret',
  'key',
  'code',
  'email',
  'phone',
  'document',
  'credentials',
]

/** JSON lines. What looks secret or personal by name is cut out, at the top and two levels down. */
export const log = pino({
  level: settings.logLevel,
  base: undefined,
  timestamp: () => `,"time":"${new Date().toISOString()}"`,
  redact: { paths: secret.flatMap((name) => [name, `*.${name}`, `*.*.${name}`, `*["x-api-key"]`, `*["x-guest-token"]`]), remove: true },
  serializers: {
    err: (error: unknown) =>
      error instanceof Error
        ? {
            type: error.name,
            message: error.message,
            stack: error.stack ?? '',
            ...('code' in error ? { code: error.code } : {}),
          }
        : { type: typeof error, message: String(error), stack: '' },
  },
})

export type Log = typeof log
export const child = (fields: Record<string, unknown>): Log => log.child(fields)
