import {
  applyPayout,
  applyTransactions,
  endImport,
  importCall,
  importUnheard,
  keepImport,
  provePayout,
  reconcile,
} from '../../db/payment/index.ts'
import type { ImportCall } from '../../db/payment/index.ts'
import { importBalance, reconcileDay } from '../../jobs/payment.ts'
import { readCall } from '../lib/external-call.ts'
import type { Outcome } from '../lib/gateway-job.ts'
import { onDatabase, processor } from '../lib/processor.ts'
import type { JobContext } from '../lib/processor.ts'
import { adapterFor } from './outcome.ts'

type Import = JobContext<{ tenantId: string; gatewayAccountId: string }>

class Unheard extends Error {
  readonly wasRefused: boolean
  constructor(wasRefused: boolean, code: string) {
    super(`the list of the gateway was not read: ${code}`)
    this.wasRefused = wasRefused
  }
}

/** A part of a list. Without one the import ends: it is made again soon, and adds nothing twice. */
const heard = <S>(outcome: Outcome<S>): S => {
  if (outcome.kind === 'known') return outcome.snapshot
  throw new Unheard(outcome.kind === 'refused', outcome.code)
}

/** Pages and time of one start; a longer list goes on in the next one, from where this one has come to. */
const pagesAtOnce = 200
const enoughMs = 15_000

/** Answers whether the list was read to its end. */
const readTransactions = async (context: Import, call: ImportCall): Promise<boolean> => {
  const { account, accountRef, since } = call
  const gateway = adapterFor(context, account.provider)
  const name = { provider: account.provider, operation: 'transactions' }
  const until = Date.now() + enoughMs
  let { cursor } = call
  for (let page = 0; page < pagesAtOnce && Date.now() < until && !context.signal.aborted; page += 1) {
    const from = cursor
    const part = heard(
      await readCall(context, name, () => gateway.transactions(accountRef, since, from, context.signal)),
    )
    cursor = part.hasMore ? part.next : null
    const next = cursor
    await context.effect(async (trx) => {
      await applyTransactions(trx, account, part.entries)
      if (next !== null) await keepImport(trx, call, next)
    })
    if (next === null) return true
  }
  return false
}

const readPayouts = async (context: Import, { account, accountRef }: ImportCall) => {
  const gateway = adapterFor(context, account.provider)
  const { provider } = account
  const payouts = heard(
    await readCall(context, { provider, operation: 'payouts' }, () => gateway.payouts(accountRef, context.signal)),
  )
  const open = await context.effect(async (trx) => {
    const unproven = []
    for (const entry of payouts) unproven.push(await applyPayout(trx, account, entry))
    return unproven.filter((payout) => payout !== null)
  })
  for (const payout of open) {
    const references = heard(
      await readCall(context, { provider, operation: 'paid_out' }, () =>
        gateway.paidOut(accountRef, payout.externalId, context.signal),
      ),
    )
    await context.effect((trx) => provePayout(trx, payout, references))
  }
}

/** Imports what moved the balance, and the payouts, of an account (R25). */
const importProcessor = processor(importBalance, async (context) => {
  const { gatewayAccountId } = context.payload
  const call = await context.effect((trx) => importCall(trx, gatewayAccountId))
  if (!call) return context.finish()
  try {
    if (!(await readTransactions(context, call))) return context.putBack(0)
    await readPayouts(context, call)
  } catch (error) {
    if (!(error instanceof Unheard)) throw error
    context.log.info({ gatewayAccountId, reason: error.message }, 'an import was not answered')
    return context.finish((trx) => importUnheard(trx, gatewayAccountId, error.wasRefused))
  }
  return context.finish((trx) => endImport(trx, call.account, call.startedAt))
})

export const balanceProcessors = [
  importProcessor,
  onDatabase(reconcileDay, (trx, { reconciliationId }) => reconcile(trx, reconciliationId)),
]
