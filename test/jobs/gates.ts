import { inPlatform } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import type { EnqueueOptions } from '../../db/lib/enqueue.ts'
import { readGate, reportCall } from '../../db/jobs/gates.ts'
import type { GateSign } from '../../db/jobs/gates.ts'
import { call, newKey } from './support.ts'

export const mine = 'sandbox:mine'
export const other = 'sandbox:other'

export const ask = (gate: string, count = 1, options: EnqueueOptions = {}) =>
  inPlatform(async (trx) => {
    const ids: string[] = []
    for (let n = 0; n < count; n += 1)
      ids.push((await enqueue(trx, call, { key: newKey() }, { ...options, gate })) ?? '')
    return ids
  })

export const report = (gate: string, sign: GateSign, afterMs?: number) =>
  inPlatform((trx) => reportCall(trx, gate, sign, { tenantId: null, reason: 'a test', afterMs }))
export const gateOf = (gate: string) => inPlatform((trx) => readGate(trx, gate))
