import {
  issueCauses,
  issueKinds,
  issueOutcomes,
  issuePriorities,
  issueStatuses,
  lostCategories,
  lostOutcomes,
} from '../issues.ts'
import { Amount, Bool, Count, Currency, Int, Nullable, Obj, OneOf, Uuid } from '../schema.ts'
import { Code, event } from './event.ts'
import type { Event } from './event.ts'

const issueData = {
  issueId: Uuid,
  number: Count,
  kind: OneOf([...issueKinds]),
  categoryCode: Code,
  priority: OneOf([...issuePriorities]),
  status: OneOf([...issueStatuses]),
  assigneeId: Nullable(Uuid),
  guestId: Nullable(Uuid),
  reservationId: Nullable(Uuid),
  unitId: Nullable(Uuid),
  escalation: Int(0, 3),
}
const issue = { entity: 'issue', subject: 'Issue', data: Obj(issueData) } as const
const endOfIssue = {
  ...issue,
  data: Obj({
    ...issueData,
    cause: Nullable(OneOf([...issueCauses])),
    outcome: Nullable(OneOf([...issueOutcomes])),
  }),
} as const
export const issueOpened = event({ type: 'issue.opened', ...issue, listeners: ['ocp'] })
export const issueChanged = event({ type: 'issue.changed', ...issue })
export const issueAssigned = event({ type: 'issue.assigned', ...issue })
export const issueStarted = event({ type: 'issue.started', ...issue })
export const issuePaused = event({ type: 'issue.paused', ...issue })
export const issueCommented = event({ type: 'issue.commented', ...issue })
export const issueEscalated = event({ type: 'issue.escalated', ...issue })
export const issueSlaBreached = event({
  type: 'issue.sla_breached',
  ...issue,
  data: Obj({ ...issueData, clock: OneOf(['first_response', 'resolution']) }),
})
export const issueResolved = event({ type: 'issue.resolved', ...endOfIssue, listeners: ['ocp'] })
export const issueClosed = event({ type: 'issue.closed', ...endOfIssue })
export const issueReopened = event({ type: 'issue.reopened', ...issue })
export const issueScored = event({ type: 'issue.scored', ...issue, data: Obj({ ...issueData, score: Int(1, 5) }) })

const compensation = {
  entity: 'compensation',
  subject: 'Compensation',
  data: Obj({
    compensationId: Uuid,
    issueId: Uuid,
    reservationId: Uuid,
    kind: OneOf(['adjustment', 'gesture']),
    amount: Amount,
    currency: Currency,
    automatic: Bool,
  }),
} as const
export const compensationProposed = event({ type: 'compensation.proposed', ...compensation })
export const compensationApproved = event({ type: 'compensation.approved', ...compensation })
export const compensationRejected = event({ type: 'compensation.rejected', ...compensation })

const lostItem = {
  entity: 'lost_item',
  subject: 'LostItem',
  data: Obj({
    lostItemId: Uuid,
    number: Count,
    category: OneOf([...lostCategories]),
    unitId: Nullable(Uuid),
    matchId: Nullable(Uuid),
    outcome: Nullable(OneOf([...lostOutcomes])),
  }),
} as const
export const lostItemFound = event({ type: 'lost_item.found', ...lostItem })
export const lostItemMissed = event({ type: 'lost_item.missed', ...lostItem })
export const lostItemMatched = event({ type: 'lost_item.matched', ...lostItem })
export const lostItemClosed = event({ type: 'lost_item.closed', ...lostItem })
export const lostItemDisposalDateReached = event({ type: 'lost_item.disposal_date_reached', ...lostItem })

export const issuesEvents: Event[] = [
  issueOpened,
  issueChanged,
  issueAssigned,
  issueStarted,
  issuePaused,
  issueCommented,
  issueEscalated,
  issueSlaBreached,
  issueResolved,
  issueClosed,
  issueReopened,
  issueScored,
  compensationProposed,
  compensationApproved,
  compensationRejected,
  lostItemFound,
  lostItemMissed,
  lostItemMatched,
  lostItemClosed,
  lostItemDisposalDateReached,
]
