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
  'email',
  'phone',
  'document',
  'credentials',
]

/** JSON lines. What looks secret or personal by name is cut out, at the top and two levels down. */
export const log = pino({
  level: settings.logLevel,
  base: null,
  timestamp: () => `,"time":"${new Date().toISOString()}"`,
  redact: {
    paths: secret.flatMap((name) => [name, `*.${name}`, `*.*.${name}`, `*["x-api-key"]`, `*["x-guest-token"]`]),
    remove: true,
  },
  serializers: {
    // Only what tells where it broke: the detail of a database error can hold a value of a row.
    err: (error: Error & { code?: string }) => ({
      type: error.name ?? typeof error,
      message: error.message ?? String(error),
      stack: error.stack ?? '',
      ...(error.code === undefined ? {} : { code: error.code }),
      ...(error.cause instanceof Error ? { cause: error.cause.message } : {}),
    }),
  },
})

export type Log = typeof log
export const child = (fields: Record<string, unknown>): Log => log.child(fields)

/** For the line that every request and job writes: its fields are ours alone, and looking for secrets in them would cost ten times the line. */
export const plainLog: Log = log.child({}, { redact: [] })
