import { settings } from '../../config/env.ts'
import {
  activateCharge,
  askForPix,
  beginReturn,
  beginTransfer,
  chargeCall,
  endCharge,
  failCharge,
  noteConnection,
  noteSynced,
  pixDue,
  pixLine,
  settleReturn,
  settleSent,
  takePix,
  unsent,
} from '../../db/cash/index.ts'
import type { HeardPix, PixLine } from '../../db/cash/index.ts'
import * as jobs from '../../jobs/cash.ts'
import { externalCall, readCall } from '../lib/external-call.ts'
import { heedCredentials, isRefusingCredentials, waitForCredentials } from '../lib/gate.ts'
import type { Outcome } from '../lib/gateway-job.ts'
import { processor } from '../lib/processor.ts'
import type { JobContext, Processor } from '../lib/processor.ts'
import { bankOf } from '../pix/index.ts'
import { startSandboxBank } from '../pix/sandbox-server.ts'

type Named = { tenantId: string }

/** A call that changes something at the bank, under a key of ours. `again`: it may have been made before. */
const called = async <S, P>(
  context: JobContext<P>,
  line: PixLine,
  operation: string,
  key: string,
  call: (again: boolean) => Promise<Outcome<S>>,
): Promise<Outcome<S>> => {
  const { outcome } = await externalCall(
    context as never,
    { provider: line.gateProvider, operation, key },
    async (prior) => heedCredentials(await call(prior !== null && prior !== 'not_sent')),
  )
  return outcome
}

/** As `called`; refused credentials close the gate of the connection, where the job then waits. */
const act = async <S, P>(...given: Parameters<typeof called<S, P>>): Promise<Outcome<S>> => {
  const outcome = await called<S, P>(...given)
  waitForCredentials(outcome)
  return outcome
}

const read = async <S, P>(
  context: JobContext<P>,
  line: PixLine,
  operation: string,
  call: () => Promise<Outcome<S>>,
): Promise<Outcome<S>> => {
  const outcome = await readCall(context, { provider: line.gateProvider, operation }, async () =>
    heedCredentials(await call()),
  )
  waitForCredentials(outcome)
  return outcome
}

const later = <P>(context: JobContext<P>, outcome: Outcome<unknown>): never =>
  context.retryLater(`the bank did not answer: ${'code' in outcome ? outcome.code : outcome.kind}`)

const connect = processor(jobs.connectPixJob, async (context) => {
  const { cashAccountId } = context.payload
  const line = await context.effect((trx) => pixLine(trx, cashAccountId))
  if (!line) return context.finish()
  const outcome = await heeded(context, line)
  if (outcome.kind === 'known') return context.finish((trx) => noteConnection(trx, cashAccountId, null))
  if (outcome.kind === 'refused' || isRefusingCredentials(outcome))
    return context.finish((trx) => noteConnection(trx, cashAccountId, outcome.code ?? 'refused'))
  return later(context, outcome)
})

/** The first call with new credentials: that they are refused is what is asked. */
const heeded = async (
  context: JobContext<Named & { cashAccountId: string }>,
  line: PixLine,
): Promise<Outcome<true>> => {
  const { outcome } = await externalCall(
    context as never,
    { provider: line.gateProvider, operation: 'register', key: `${line.connectionId} ${context.jobId}` },
    async () => heedCredentials(await bankOf(line).register({ line, signal: context.signal })),
  )
  return outcome
}

/** Books money, each Pix by itself: one that cannot be booked keeps no other from it. Answers whether all is booked, and why not. */
const takeAll = async (
  context: JobContext<Named>,
  cashAccountId: string,
  pix: readonly HeardPix[],
): Promise<{ isWhole: boolean; errors: unknown[] }> => {
  const errors: unknown[] = []
  let isWhole = true
  for (const one of pix)
    try {
      const taken = await context.inTenant(context.payload.tenantId, (trx) => takePix(trx, cashAccountId, one))
      if (taken === 'later') isWhole = false
    } catch (error) {
      errors.push(error)
    }
  return { isWhole: isWhole && errors.length === 0, errors }
}

/** Asks about money by its id, and books what has come. */
const pull = async (context: JobContext<Named>, line: PixLine, endToEndIds: readonly string[]): Promise<void> => {
  for (const endToEndId of endToEndIds) {
    const outcome = await read(context, line, 'read-pix', () =>
      bankOf(line).readPix({ line, signal: context.signal }, endToEndId),
    )
    if (outcome.kind === 'not_sent' || outcome.kind === 'unknown') return later(context, outcome)
    if (outcome.kind !== 'known' || !outcome.snapshot) continue
    const { isWhole, errors } = await takeAll(context, line.cashAccountId, [outcome.snapshot])
    if (errors.length > 0) throw errors[0]
    if (!isWhole) return context.retryLater('the money may be of a transfer whose outcome is awaited')
  }
}

const create = processor(jobs.createPixChargeJob, async (context) => {
  const { pixChargeId } = context.payload
  const call = await context.effect((trx) => chargeCall(trx, pixChargeId, ['creating']))
  if (!call) return context.finish()
  const { line, charge } = call
  // The txid is the key: asked again the bank answers the charge that it has.
  const outcome = await act(context, line, 'create-charge', charge.txid, () =>
    bankOf(line).createCharge({ line, signal: context.signal }, call),
  )
  if (outcome.kind === 'known')
    return context.finish((trx) => activateCharge(trx, pixChargeId, outcome.snapshot.location))
  if (outcome.kind === 'refused')
    return context.finish((trx) => failCharge(trx, pixChargeId, { code: outcome.code, message: outcome.message }))
  return later(context, outcome)
})

const cancel = processor(jobs.cancelPixChargeJob, async (context) => {
  const { pixChargeId } = context.payload
  const call = await context.effect((trx) => chargeCall(trx, pixChargeId, ['cancelling']))
  if (!call) return context.finish()
  const { line, charge } = call
  const outcome = await act(context, line, 'cancel-charge', charge.txid, () =>
    bankOf(line).cancelCharge({ line, signal: context.signal }, charge),
  )
  if (outcome.kind !== 'known') return later(context, outcome)
  // Paid before the bank could close it: the money counts.
  await pull(context, line, outcome.snapshot?.endToEndIds ?? [])
  return context.finish((trx) => endCharge(trx, pixChargeId))
})

const expire = processor(jobs.expirePixChargeJob, async (context) => {
  const { pixChargeId } = context.payload
  const call = await context.effect((trx) => chargeCall(trx, pixChargeId, ['creating', 'active', 'cancelling']))
  if (!call) return context.finish()
  const { line, charge } = call
  const outcome = await read(context, line, 'read-charge', () =>
    bankOf(line).readCharge({ line, signal: context.signal }, charge),
  )
  if (outcome.kind !== 'known') return later(context, outcome)
  await pull(context, line, outcome.snapshot?.endToEndIds ?? [])
  if (outcome.snapshot?.status === 'active') return context.finish()
  return context.finish((trx) => endCharge(trx, pixChargeId))
})

const pulled = processor(jobs.pullPixJob, async (context) => {
  const { cashAccountId, endToEndIds } = context.payload
  const line = await context.effect((trx) => pixLine(trx, cashAccountId))
  if (line) await pull(context, line, endToEndIds)
  return context.finish()
})

const hour = 3_600_000

const sync = processor(jobs.syncPixJob, async (context) => {
  const { cashAccountId } = context.payload
  const line = await context.effect((trx) => pixLine(trx, cashAccountId))
  if (!line) return context.finish()
  const until = new Date()
  const errors: unknown[] = []
  let isWhole = true
  const from = new Date((line.lastSyncedAt ?? line.createdAt).getTime() - hour)
  for (let page = 0; ; page += 1) {
    const outcome = await readCall(context, { provider: line.gateProvider, operation: 'list-pix' }, async () =>
      heedCredentials(await bankOf(line).listPix({ line, signal: context.signal }, from, until, page)),
    )
    if (outcome.kind !== 'known') return context.finish((trx) => noteConnection(trx, cashAccountId, outcome.code))
    const taken = await takeAll(context, cashAccountId, outcome.snapshot.pix)
    errors.push(...taken.errors)
    isWhole &&= taken.isWhole
    if (!outcome.snapshot.more) break
  }
  if (errors.length > 0) throw errors[0]
  return context.finish(async (trx) => {
    await noteConnection(trx, cashAccountId, null)
    // Receipts that were passed over are read again.
    if (isWhole) await noteSynced(trx, cashAccountId, until)
  })
})

/** A question that the bank refuses says nothing of the money. */
const saidNothing = <S>(outcome: Outcome<S>): Outcome<S> =>
  outcome.kind === 'refused' ? { ...outcome, kind: 'unknown' } : outcome

const sendOrRead = async (context: JobContext<Named & { cashTransferId: string }>) => {
  const { cashTransferId } = context.payload
  const effect = context.effect as never as <T>(work: (trx: never) => Promise<T>) => Promise<T>
  const call = await effect((trx) => beginTransfer(trx, cashTransferId))
  if (!call) return context.finish()
  const { line, key } = call
  const calling = { line, signal: context.signal }
  const bank = bankOf(line)
  // What may have left is asked about, never sent again.
  const outcome =
    call.mode === 'read'
      ? await read(context, line, 'read-sent', () => bank.readSent(calling, key))
      : await called(context, line, 'send', key, async (again) =>
          again ? saidNothing(await bank.readSent(calling, key)) : bank.send(calling, call),
        )
  const finish = context.finish as never as (work: (trx: never) => Promise<unknown>) => Promise<unknown>
  if (outcome.kind === 'known') return finish((trx) => settleSent(trx, cashTransferId, outcome.snapshot))
  if (outcome.kind === 'refused' && call.mode === 'send')
    return finish((trx) =>
      settleSent(trx, cashTransferId, {
        status: 'failed',
        failure: { code: outcome.code, message: outcome.message },
      }),
    )
  if (outcome.kind === 'not_sent' && call.mode === 'send') {
    await effect((trx) => unsent(trx, cashTransferId))
    waitForCredentials(outcome)
    return later(context, outcome)
  }
  return finish((trx) => settleSent(trx, cashTransferId, { status: 'pending' }))
}

const giveBack = processor(jobs.returnPixJob, async (context) => {
  const { pixReturnId } = context.payload
  const call = await context.effect((trx) => beginReturn(trx, pixReturnId))
  if (!call) return context.finish()
  const { line, endToEndId, code, amount } = call
  const calling = { line, signal: context.signal }
  const bank = bankOf(line)
  // The code is the key: asked again the bank answers the return that it has made.
  const outcome =
    call.mode === 'send'
      ? await act(context, line, 'return', code, () => bank.returnPix(calling, { endToEndId, code, amount }))
      : await again(context, line, { endToEndId, code, amount })
  if (outcome.kind === 'known') return context.finish((trx) => settleReturn(trx, pixReturnId, outcome.snapshot))
  if (outcome.kind === 'refused')
    return context.finish((trx) =>
      settleReturn(trx, pixReturnId, {
        status: 'failed',
        failure: { code: outcome.code, message: outcome.message },
      }),
    )
  return context.finish((trx) => settleReturn(trx, pixReturnId, { status: 'pending' }))
})

/** A return that may have been made is read; where the bank knows none of the code, it is asked for again under that code. */
const again = async (
  context: JobContext<Named>,
  line: PixLine,
  asked: { endToEndId: string; code: string; amount: number },
) => {
  const calling = { line, signal: context.signal }
  const seen = await read(context, line, 'read-return', () => bankOf(line).readReturn(calling, asked))
  if (seen.kind === 'known' && seen.snapshot.status === 'pending')
    return act(context, line, 'return', asked.code, () => bankOf(line).returnPix(calling, { ...asked, isAgain: true }))
  return saidNothing(seen)
}

const sweep = processor(jobs.sweepPixJob, async (context) => {
  // The sandbox bank of this process calls about what a killed one left.
  if (settings.sandboxPix) await startSandboxBank()
  for (const [tenantId, mine] of await context.effect(pixDue))
    await context.inTenant(tenantId, (trx) => askForPix(trx, mine))
  await context.finish()
})

export const pixProcessors: readonly Processor[] = [
  connect,
  create,
  cancel,
  expire,
  pulled,
  sync,
  processor(jobs.sendTransferJob, sendOrRead as never),
  processor(jobs.readTransferJob, sendOrRead as never),
  giveBack,
  sweep,
]
