import { LRUCache } from 'lru-cache'
import { log } from '../../config/log.ts'
import { inPlatform } from '../../db/lib/connection.ts'
import { reportCall } from '../../db/jobs/index.ts'
import type { GateSign } from '../../db/jobs/index.ts'
import type { CallOutcome } from './external-call.ts'
import { gateClosures } from './metrics.ts'
import type { JobContext } from './processor.ts'

/** Codes by which a mail server asks to be left alone, rather than refuse one message for now. */
const busyCodes = new Set(['smtp_421', 'smtp_454'])
/** It refuses the service itself: no message will pass. */
const refusedLogin = new Set(['smtp_530', 'smtp_534', 'smtp_535'])

/**
 * Reads the state of an account off an outcome: an answer of any kind says that it works; 429, that it asks for a pause; 5xx, no connection and
 * no answer, that it is down. Null if it says nothing of the account: a missing setting, or a refusal of this call alone.
 */
export const signOf = ({ kind, code = '', httpStatus }: CallOutcome): GateSign | null => {
  if (kind === 'known' || kind === 'accepted' || kind === 'refused') return 'up'
  if (httpStatus === 429 || busyCodes.has(code)) return 'busy'
  if (refusedLogin.has(code)) return 'down'
  if (httpStatus !== undefined) return httpStatus >= 500 ? 'down' : null
  return code.endsWith('_not_set') || code.startsWith('smtp_') ? null : 'down'
}

/** Successes are written every few seconds alone: nothing but the first one after a failure changes a gate. */
const upEveryMs = 2_000
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
    log.warn({ gate, sign, code: outcome.code, ms: closedMs }, 'the gate of an account is closed')
  } catch (error) {
    log.warn({ err: error, gate }, 'what a call said of its account was not written')
  }
}
