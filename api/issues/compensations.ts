import { isLimited } from '../../config/roles.ts'
import { sampleId } from '../../config/samples.ts'
import { Day, Obj, OneOf, Opt, Uuid, Words } from '../../config/schema.ts'
import { approveCompensation, listCompensations, readCompensation, rejectCompensation } from '../../db/issues/index.ts'
import { resource } from '../lib/resource.ts'
import { trimmed } from '../lib/reason.ts'
import { Compensation, path } from './schemas.ts'

const compensations = resource({
  name: 'compensations',
  subject: 'Compensation',
  table: 'compensation',
  path: `${path}/compensations`,
  param: 'compensationId',
  record: Compensation,
  lockedBy: 'command',
  read: readCompensation,
})

const list = compensations.list({
  summary: 'List compensations, waiting ones first',
  query: {
    propertyId: Opt(Uuid),
    status: Opt(OneOf(['proposed', 'approved', 'rejected'])),
    issueId: Opt(Uuid),
    reservationId: Opt(Uuid),
    from: Opt(Day),
    to: Opt(Day),
  },
  example: { issueId: sampleId('issueId') },
  find: ({ trx, filter }) => listCompensations(trx, filter),
})

const approve = compensations.act('approve', {
  summary: 'Approve a compensation and post it to the folio',
  description:
    'Another person than the proposer approves: managers up to `managerLimit` of the category for all adjustments of the issue together, admins and the owner without limit.',
  errors: [
    'self_approval',
    'approval_limit_exceeded',
    'adjustment_exceeds_charge',
    'folio_closed',
    'folio_busy',
    'line_not_adjustable',
    'link_mismatch',
    'amount_exceeds_refundable',
    'amount_disputed',
    'method_unavailable',
    'business_day_changed',
    'invalid_transition',
  ],
  command: ({ trx, id, admission, expectedVersion }) =>
    approveCompensation(trx, id, {
      role: admission.role,
      expectedVersion,
      limited: isLimited(admission.role, 'Compensation', 'approve'),
    }),
})

const reject = compensations.act('reject', {
  summary: 'Reject or withdraw a proposed compensation',
  description: 'Open to those who approve compensations, and to the proposer.',
  action: 'propose',
  errors: ['invalid_transition', 'business_day_changed'],
  body: Obj({ reason: Words(3, 500) }),
  example: { reason: 'The guest was moved instead' },
  command: ({ trx, id, body, admission, expectedVersion }) =>
    rejectCompensation(trx, id, trimmed(body.reason), {
      role: admission.role,
      expectedVersion,
      mayApprove: admission.can('approve', 'Compensation'),
    }),
})

export const routes = [list, approve, reject]
