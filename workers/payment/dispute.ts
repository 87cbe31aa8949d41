import { applyDisputeSnapshot, disputeCall, gatewayOfAccount } from '../../db/payment/index.ts'
import type { DisputeCall, DisputeSnapshot } from '../../db/payment/index.ts'
import { readDispute, respondDispute } from '../../jobs/payment.ts'
import { gatewayJob, unheard } from '../lib/gateway-job.ts'
import type { Answer } from '../lib/gateway-job.ts'
import { adapterFor } from './outcome.ts'

const nothing = () => Promise.resolve()

type OfReading = { tenantId: string; gatewayAccountId: string; reference: string }

export const disputeProcessors = [
  gatewayJob<typeof respondDispute.payload, DisputeCall, DisputeSnapshot>(respondDispute, {
    load: (trx, { disputeId }) => disputeCall(trx, disputeId),
    ask: async (asking, { provider, accountRef, dispute, evidence }) => {
      const key = `dsp-${dispute.id}-${dispute.phase}`
      const { externalId } = dispute
      const answer = { accountRef, externalId, action: dispute.response ?? 'accept', evidence } as const
      const gateway = adapterFor(asking, provider)
      const answered = await asking.act({ provider, operation: 'respond_dispute', key }, () =>
        gateway.respondDispute(answer, key, asking.signal),
      )
      // A gateway refuses an answer that it has, or that comes too late: its state says which.
      const outcome =
        answered.kind === 'refused'
          ? await asking.read({ provider, operation: 'read_dispute' }, () =>
              gateway.readDispute(accountRef, externalId, asking.signal),
            )
          : answered
      if (outcome.kind === 'not_sent') return outcome
      const { gatewayAccountId } = dispute
      const snapshot = outcome.kind === 'known' ? outcome.snapshot : null
      // Without a plain answer the schedule sends it again under its key.
      if (snapshot === null || gatewayAccountId === null) return { kind: 'write', write: nothing }
      return { kind: 'write', write: (trx) => applyDisputeSnapshot(trx, gatewayAccountId, snapshot) }
    },
    apply: {
      known: nothing,
      refused: nothing,
      unknown: nothing,
    },
    isScheduled: false,
  }),
  gatewayJob<typeof readDispute.payload, NonNullable<Awaited<ReturnType<typeof gatewayOfAccount>>>, DisputeSnapshot>(
    readDispute,
    {
      load: (trx, { gatewayAccountId }) => gatewayOfAccount(trx, gatewayAccountId),
      ask: async (asking, { provider, accountRef }, payload): Promise<Answer<OfReading, DisputeSnapshot>> => {
        const outcome = unheard(
          await asking.read({ provider, operation: 'read_dispute' }, () =>
            adapterFor(asking, provider).readDispute(accountRef, payload.reference, asking.signal),
          ),
        )
        if (outcome.kind !== 'known') return outcome
        const { snapshot } = outcome
        return snapshot ? { kind: 'known', snapshot } : { kind: 'write', write: nothing }
      },
      apply: {
        known: (trx, { gatewayAccountId }, snapshot) => applyDisputeSnapshot(trx, gatewayAccountId, snapshot),
        refused: nothing,
        unknown: nothing,
      },
      isScheduled: true,
    },
  ),
]
