import fc from 'fast-check'
import { addAttachment } from '../../db/lib/attachments.ts'
import { inTenant, sql, sqlOne } from '../../db/lib/connection.ts'
import { closeIssue, createIssue, proposeCompensation, registerItem, resolveIssue } from '../../db/issues/index.ts'
import { makeUser } from '../auth/support.ts'
import type { House } from '../support/factories.ts'
import { makeHold } from '../support/stay.ts'
import type { Known } from './inputs.ts'

/** Issues in each state that a command starts from, with compensations, items and a file. */
export const ofIssues = async (
  house: House,
): Promise<{ known: Known; examples: Record<string, unknown[]>; records: Record<string, string> }> => {
  const { userId } = await makeUser({ [house.tenantId]: 'manager' })
  const bookingId = await makeHold(house, { from: 61 })
  const { propertyId } = house
  const found = await inTenant(
    house.tenantId,
    async (trx) => {
      const row = await sqlOne<{ categoryId: string; otherId: string; reservationId: string; folioId: string }>(
        trx,
        `select (select id from issue_category where code = 'noise') as category_id, (select id from issue_category where code = 'equipment') as other_id,
           r.id as reservation_id, (select f.id from folio f where f.reservation_id = r.id limit 1) as folio_id
         from reservation r where r.booking_id = ?`,
        [bookingId],
      )
      const { categoryId = '', reservationId = '' } = row ?? {}
      const make = () =>
        createIssue(trx, { propertyId, categoryId, title: 'Loud music', priority: 'high', reservationId })
      const [open, work, resolved, closed, closable, waiting] = [
        await make(),
        await make(),
        await make(),
        await make(),
        await make(),
        await make(),
      ]
      const asked = { role: 'owner' }
      await resolveIssue(trx, resolved, { resolution: 'Asked for quiet', cause: 'guest' }, asked)
      await closeIssue(trx, closed, { outcome: 'withdrawn', reason: 'Nothing was heard' }, asked)
      const gesture = { kind: 'gesture', amount: 500, description: 'A bottle', reason: 'To be kind' } as const
      const compensationId = await proposeCompensation(trx, work, gesture, asked)
      const [waitingOne] = await sql<{ id: string }>(
        trx,
        `insert into compensation (issue_id, property_id, reservation_id, kind, amount, currency, description, proposed_by_actor)
         values (?, ?, ?, 'gesture', 100, 'BRL', 'A cake', '{"type":"system","id":null}') returning id`,
        [work, propertyId, reservationId],
      )
      const item = (direction: 'found' | 'missed') =>
        registerItem(trx, { propertyId, direction, category: 'bag', description: 'A red bag' })
      const [lostItemId, closedItem, match] = [await item('found'), await item('found'), await item('missed')]
      const file = { fileName: 'noise.csv', mediaType: 'text/csv' as const, bytes: Buffer.from('hour,level\n') }
      const attached = { module: 'issues', type: 'issue', id: open }
      return {
        categoryId,
        otherId: row?.otherId ?? '',
        reservationId,
        folioId: row?.folioId ?? '',
        open,
        work,
        resolved,
        closed,
        closable,
        waiting,
        compensationId,
        toReject: waitingOne?.id ?? '',
        lostItemId,
        closedItem,
        match,
        attachmentId: await addAttachment(trx, attached, file),
        removed: await addAttachment(trx, attached, file),
      }
    },
    { actor: { type: 'user', id: userId } },
  )
  const one = (...values: unknown[]) => fc.constantFrom(...values)
  return {
    records: { issueId: found.open, compensationId: found.compensationId, lostItemId: found.lostItemId },
    known: {
      issueId: one(found.open),
      // Changes of a category may take it out of use, and issues must still find theirs.
      issueCategoryId: one(found.otherId),
      categoryId: one(found.categoryId),
      compensationId: one(found.compensationId),
      lostItemId: one(found.lostItemId),
      attachmentId: one(found.attachmentId),
      matchId: one(found.match, null),
      duplicateOfId: one(found.work, null),
      reservationId: one(found.reservationId),
      folioId: one(found.folioId, null),
      assigneeId: one(userId, null),
      unitId: one(house.unitIds[0], null),
      guestId: one(null),
      housekeepingTaskId: one(null),
      paymentId: one(null),
      lineId: one(null),
      code: one('pool', 'garden', 'roof'),
      entityType: one('issue'),
      entityId: one(found.open),
      mediaType: one('text/csv'),
      content: one(Buffer.from('hour,level\n').toString('base64')),
      outcome: one('withdrawn', 'resolved', 'returned', 'not_actionable'),
      'issueAttachments.delete attachmentId': one(found.removed),
      'compensations.reject compensationId': one(found.toReject),
      'issues.comment issueId': one(found.work),
      'issues.compensate issueId': one(found.work),
      'issues.start issueId': one(found.work),
      'issues.wait issueId': one(found.waiting),
      'issues.resolve issueId': one(found.waiting),
      'issues.reopen issueId': one(found.resolved, found.closed),
      'issues.close issueId': one(found.closable),
      'lostItems.close lostItemId': one(found.closedItem),
    },
    examples: {
      'issues.list': [{}, { late: true }, { assigneeId: 'me' }, { assigneeId: 'none', sort: '-priority' }],
      'issues.summary': [{ from: house.day(-30), to: house.day(0) }],
      'issues.comment': [{ text: 'We are on our way', visibility: 'guest' }],
      'issues.compensate': [
        { kind: 'gesture', amount: 100, description: 'A bottle', reason: 'To be kind' },
        { kind: 'adjustment', amount: 100, description: 'Noise', reason: 'The night was loud' },
      ],
      'issues.close': [{ outcome: 'withdrawn', reason: 'Nothing was heard' }],
      'lostItems.close': [{ outcome: 'returned', note: { to: 'Ana' } }],
      'lostItems.update': [{ matchId: found.match }, { matchId: null }],
    },
  }
}
