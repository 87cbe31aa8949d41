import {
  answerFiscal,
  beginCancel,
  beginRead,
  beginSend,
  customersToForget,
  eraseFiscal,
  fiscalDue,
  fiscalToErase,
  forgetCustomers,
  makeRequested,
  noteNotSent,
  requestReads,
} from '../../db/accounts-receivable/index.ts'
import type { AuthorityWord, CallAnswer, FiscalCall } from '../../db/accounts-receivable/index.ts'
import { settings } from '../../config/env.ts'
import type { FiscalOperation } from '../../config/fiscal.ts'
import { byTenant } from '../../db/lib/by-tenant.ts'
import type { Trx } from '../../db/lib/connection.ts'
import * as jobs from '../../jobs/fiscal.ts'
import { eraseDue } from '../lib/erasing.ts'
import { externalCall, readCall } from '../lib/external-call.ts'
import type { PriorState } from '../lib/external-call.ts'
import { heedCredentials, waitForCredentials } from '../lib/gate.ts'
import type { Outcome } from '../lib/gateway-job.ts'
import { onDatabase, processor } from '../lib/processor.ts'
import type { JobContext, Processor } from '../lib/processor.ts'
import type { FiscalAuthority } from './authority.ts'
import { sandbox } from './sandbox.ts'

const authorityOf = (adapter: string): FiscalAuthority | null =>
  adapter === 'sandbox' && settings.sandboxFiscal ? sandbox : null

/** An answer as the document takes it. A refusal to read says nothing of the document. */
const answerOf = (operation: FiscalOperation, outcome: Outcome<AuthorityWord>): CallAnswer => {
  if (outcome.kind === 'known') return { kind: 'known', word: outcome.snapshot }
  if (outcome.kind !== 'refused') return { kind: outcome.kind, code: outcome.code }
  const { code, message } = outcome
  if (operation === 'read') return { kind: 'unknown', code }
  return { kind: 'known', word: { state: operation === 'send' ? 'rejected' : 'refused', code, message } }
}

type OfDocument = { tenantId: string; fiscalDocumentId: string }
type Context = JobContext<OfDocument>

/** A call that an earlier start made, and that may have been heard: it is read, and never made again. */
const mayBeHeard = (prior: PriorState) => prior === 'started' || prior === 'unknown'

/** Makes a call that changes something over there, at most once under its key. Null where it was made and answered already. */
const act = async (context: Context, operation: 'send' | 'cancel', call: FiscalCall, authority: FiscalAuthority) => {
  const name = { provider: `fiscal-${call.adapter}`, operation, key: call.key }
  let isOver = false
  const { outcome } = await externalCall(context, name, async (prior): Promise<Outcome<AuthorityWord>> => {
    isOver = prior === 'succeeded' || prior === 'failed'
    if (isOver) return { kind: 'known', snapshot: { state: 'not_found' } }
    if (mayBeHeard(prior)) return { kind: 'unknown', code: 'start_lost' }
    return heedCredentials(await authority[operation](call, context.signal))
  })
  waitForCredentials(outcome)
  return isOver ? null : outcome
}

const look = async (context: Context, call: FiscalCall, authority: FiscalAuthority) => {
  const outcome = await readCall(context, { provider: `fiscal-${call.adapter}`, operation: 'read' }, async () =>
    heedCredentials(await authority.read(call, context.signal)),
  )
  waitForCredentials(outcome)
  return outcome
}

/** Begins a call of a document, makes it outside any transaction, and writes what came of it. What was not sent is tried again. */
const calling =
  (operation: FiscalOperation, begin: (trx: Trx, id: string) => Promise<FiscalCall | null>) =>
  async (context: Context): Promise<unknown> => {
    const { fiscalDocumentId: id } = context.payload
    const call = await context.effect((trx) => begin(trx, id))
    if (call === null) return context.finish()
    const authority =
      authorityOf(call.adapter) ??
      context.giveUp('provider_not_configured', `This installation has no authority ${call.adapter}`)
    const outcome = await (operation === 'read'
      ? look(context, call, authority)
      : act(context, operation, call, authority))
    if (outcome === null) return context.finish()
    if (outcome.kind !== 'not_sent' || operation === 'read')
      return context.finish((trx) => answerFiscal(trx, operation, call, answerOf(operation, outcome)))
    context.withNext((trx) => Promise.resolve(noteNotSent(trx as Trx, operation, id, outcome.code)))
    return context.retryLater(`the authority was not reached: ${outcome.code}`, {
      afterMs: ('afterMs' in outcome && outcome.afterMs) || 0,
    })
  }

const most = 200

export const processors: readonly Processor[] = [
  processor(jobs.sendFiscal, calling('send', beginSend)),
  processor(jobs.readFiscal, calling('read', beginRead)),
  processor(jobs.cancelFiscal, calling('cancel', beginCancel)),
  processor(jobs.sweepFiscal, async (context) => {
    for (const [tenantId, due] of byTenant(await context.effect((trx) => fiscalDue(trx, most))))
      await context.inTenant(tenantId, (trx) =>
        requestReads(
          trx,
          due.map(({ id }) => id),
        ),
      )
    await context.finish()
  }),
  processor(jobs.eraseFiscalJob, async (context) => {
    await eraseDue(context, fiscalToErase, eraseFiscal)
    await eraseDue(context, customersToForget, forgetCustomers)
    await context.finish()
  }),
  onDatabase(jobs.requestFiscal, async (trx, { source, id }, { skip }) => {
    const why = await makeRequested(trx, source === 'receivable' ? { receivableId: id } : { folioId: id })
    if (why !== null) skip(why)
  }),
]
