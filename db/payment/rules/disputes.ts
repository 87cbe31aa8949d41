/** Pure rules of disputes: phase goes before status (R3). */

export type DisputePhase = 'inquiry' | 'dispute' | 'appeal'
export type DisputeStatus = 'needs_response' | 'submitted' | 'under_review' | 'won' | 'lost'
type State = { phase: DisputePhase; status: DisputeStatus }

const phases: Record<DisputePhase, number> = { inquiry: 0, dispute: 10, appeal: 20 }
const ranks: Record<DisputeStatus, number> = { needs_response: 0, submitted: 1, under_review: 2, won: 3, lost: 3 }

export const disputeRank = ({ phase, status }: State) => phases[phase] + ranks[status]

/** Tells whether a fact may replace the state; the order and number of its arrivals then do not matter. */
export const disputeMayFollow = (from: State, to: State) => disputeRank(to) > disputeRank(from)

export const isDecided = (status: DisputeStatus) => status === 'won' || status === 'lost'

export type Consequence = {
  /** The gateway has taken the money for it now. */
  takes: boolean
  /** Postings that follow, in their order. */
  postings: ('opened' | 'won' | 'lost' | 'recovered')[]
  /** The amount is no longer disputed. */
  releases: boolean
  /** A phase begins. */
  opens: boolean
}

/** The consequence of a move of a dispute; `before` is null for a dispute that is new here. */
export const consequenceOf = (before: (State & { taken: boolean }) | null, to: State): Consequence => {
  const wasTaken = before?.taken ?? false
  const wasLost = before?.status === 'lost'
  const takes = !wasTaken && to.phase !== 'inquiry'
  const taken = wasTaken || takes
  const opens = before === null || before.phase !== to.phase
  const postings: Consequence['postings'] = takes ? ['opened'] : []
  if (taken && to.status === 'won') postings.push(wasLost || to.phase === 'appeal' ? 'recovered' : 'won')
  if (taken && to.status === 'lost' && !wasLost && to.phase !== 'appeal') postings.push('lost')
  // Of an appeal whose loss was never heard of, the loss is made good.
  if (taken && to.phase === 'appeal' && !wasLost && before?.phase !== 'appeal')
    postings.splice(takes ? 1 : 0, 0, 'lost')
  return { takes, postings, releases: taken && to.status === 'won', opens }
}
