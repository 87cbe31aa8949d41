import { LRUCache } from 'lru-cache'
import { log } from '../../config/log.ts'
import { inPlatform } from '../../db/lib/connection.ts'
import { credentialsRefused, reportCall } from '../../db/jobs/index.ts'
import type { GateSign } from '../../db/jobs/index.ts'
import type { CallOutcome } from './external-call.ts'
import { AtGate } from './failure.ts'
import { gateClosures } from './metrics.ts'
import type { JobContext } from './processor.ts'

/** Codes by which a mail server asks to be left alone, rather than refuse one message for now. */
const busyCodes = new Set(['smtp_421', 'smtp_454'])

/** Answers of HTTP by which the other side refuses our credentials, whatever was asked for. */
const refusingStatus = new Set([401, 403])

/**
 * Takes refused credentials for what they are: a fault of the house, by which nothing was sent. The account's gate closes at once, and its
 * jobs wait there until the credentials are right again.
 */
export const heedCredentials = <O extends CallOutcome>(outcome: O): O | CredentialsRefused => {
  const { kind, httpStatus } = outcome
  return (kind === 'refused' || kind === 'unknown') && httpStatus !== undefined && refusingStatus.has(httpStatus)
    ? { kind: 'not_sent', code: credentialsRefused, httpStatus }
    : outcome
}

export type CredentialsRefused = { kind: 'not_sent'; code: typeof credentialsRefused; httpStatus: number }

/**
 * Sends a job whose call met refused credentials back to wait at the gate of its account. It uses up no try: neither the guest nor the
 * record did anything wrong.
 */
export const waitForCredentials = (outcome: CallOutcome): void => {
  if (isRefusingCredentials(outcome)) throw new AtGate(credentialsRefused)
}

export const isRefusingCredentials = ({ kind, code }: CallOutcome): boolean =>
  kind === 'not_sent' && code === credentialsRefused

/**
 * Reads the state of an account off an outcome: an answer of any kind says that it works; 429, that it asks for a pause; refused credentials,
 * that an operator must mend them; 5xx, no connection and no answer, that it is down. Null if it says nothing of the account: a missing setting, or a refusal of this call alone.
 */
export const signOf = ({ kind, code = '', httpStatus }: CallOutcome): GateSign | null => {
  if (code === credentialsRefused || (kind === 'unknown' && refusingStatus.has(httpStatus ?? 0))) return 'credentials'
  // A house's own account elsewhere refuses the house's own key: it answers, and does not work.
  if (kind === 'refused' && httpStatus !== undefined && refusingStatus.has(httpStatus)) return null
  if (kind === 'known' || kind === 'accepted' || kind === 'refused') return 'up'
  if (httpStatus === 429 || busyCodes.has(code)) return 'busy'
  if (httpStatus !== undefined) return httpStatus >= 500 ? 'down' : null
  return code.endsWith('_not_set') || code.startsWith('smtp_') ? null : 'down'
}

/** Successes are written once a minute alone: nothing but the first one after a failure changes a gate, and a start that finds one says so. */
const upEveryMs = 60_000
const justUp = new LRUCache<string, true>({ max: 10_000, ttl: upEveryMs, perf: Date })

/** The next success of the gate is written at once. */
export const forget = (gate: string): void => void justUp.delete(gate)

/** Tells the gate of the job's account what a call said of it. Never fails: the call is over, and what came of it counts. */
export const tellGate = async (
  { gate, tenantId, signal }: Pick<JobContext, 'gate' | 'tenantId' | 'signal'>,
  outcome: CallOutcome,
): Promise<void> => {
  // A call that we ended ourselves says nothing of the other side.
  const sign = gate === '' || (signal.aborted && outcome.kind === 'unknown') ? null : signOf(outcome)
  if (sign === null) return
  if (sign === 'up' && justUp.has(gate)) return
  try {
    const closedMs = await inPlatform((trx) =>
      reportCall(trx, gate, sign, {
        // One account of the service serves all tenants.
        tenantId: gate.includes(':') ? tenantId : null,
        reason: outcome.code ?? sign,
        afterMs: outcome.afterMs,
      }),
    )
    if (sign === 'up') justUp.set(gate, true)
    else forget(gate)
    if (closedMs === null) return
    gateClosures.inc({ provider: gate.split(':', 1)[0] ?? gate, sign })
    const line = { gate, sign, code: outcome.code, ms: closedMs }
    if (sign === 'credentials')
      log.error(line, 'the account refuses our credentials; its jobs wait until they are right')
    else log.warn(line, 'the gate of an account is closed')
  } catch (error) {
    log.warn({ err: error, gate }, 'what a call said of its account was not written')
  }
}
