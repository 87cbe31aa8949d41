import {
  applyPayout,
  applyTransactions,
  endImport,
  importCall,
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

/** A part of a list, or another try later: an import that was cut off begins again, and adds nothing twice. */
const heard = <S>(context: Import, outcome: Outcome<S>): S => {
  if (outcome.kind === 'known') return outcome.snapshot
  const afterMs = outcome.kind === 'not_sent' ? (outcome.afterMs ?? 0) : 0
  return context.retryLater(`the list of the gateway was not read: ${outcome.code}`, { afterMs })
}

const pages = 500

const readTransactions = async (context: Import, { account, accountRef, since }: ImportCall) => {
  const gateway = adapterFor(context, account.provider)
  const name = { provider: account.provider, operation: 'transactions' }
  let cursor: string | null = null
  for (let page = 0; page < pages; page += 1) {
    const part = heard(
      context,
      await readCall(context, name, () => gateway.transactions(accountRef, since, cursor, context.signal)),
    )
    await context.effect((trx) => applyTransactions(trx, account, part.entries))
    if (!part.hasMore || part.next === null) return
    cursor = part.next
  }
}

const readPayouts = async (context: Import, { account, accountRef }: ImportCall) => {
  const gateway = adapterFor(context, account.provider)
  const { provider } = account
  const payouts = heard(
    context,
    await readCall(context, { provider, operation: 'payouts' }, () => gateway.payouts(accountRef, context.signal)),
  )
  const open = await context.effect(async (trx) => {
    const unproven = []
    for (const entry of payouts) unproven.push(await applyPayout(trx, account, entry))
    return unproven.filter((payout) => payout !== null)
  })
  for (const payout of open) {
    const references = heard(
      context,
      await readCall(context, { provider, operation: 'paid_out' }, () =>
        gateway.paidOut(accountRef, payout.externalId, context.signal),
      ),
    )
    await context.effect((trx) => provePayout(trx, payout, references))
  }
}

/** Imports what moved the balance, and the payouts, of an account (R25). */
const importProcessor = processor(importBalance, async (context) => {
  const startedAt = new Date()
  const call = await context.effect((trx) => importCall(trx, context.payload.gatewayAccountId))
  if (!call) return context.finish()
  await readTransactions(context, call)
  await readPayouts(context, call)
  return context.finish((trx) => endImport(trx, call.account, startedAt))
})

export const balanceProcessors = [
  importProcessor,
  onDatabase(reconcileDay, (trx, { reconciliationId }) => reconcile(trx, reconciliationId)),
]
