import { issuesOfGuests, itemsOfGuests } from '../../config/personal-data.ts'
import { settingsOf } from '../../config/property-settings.ts'
import type { StoredSettings } from '../../config/property-settings.ts'
import { lostItemDisposalDateReached } from '../../config/events/issues.ts'
import { removeAttachments } from '../lib/attachments.ts'
import { preparedOne, sql, sqlOne } from '../lib/connection.ts'
import type { PlatformTrx, Trx } from '../lib/connection.ts'
import { changeRow, expression } from '../lib/records.ts'
import type { LostItemRow } from '../rows.ts'
import { tellItem } from './lost-items.ts'
import { noteMissed } from './missed.ts'
import { LostItem } from './models.ts'
import { close } from './moves.ts'
import { lockIssue, writeIssue } from './state.ts'

type Found = { tenantId: string; id: string }
const atOnce = 200

const found = (name: string) => (trx: PlatformTrx) => sql<Found>(trx, `select tenant_id, id from ${name}(?)`, [atOnce])

/** Issues with a deadline that has passed, nearest first, over all tenants. */
export const dueIssues = found('issues_to_check')
export const closableIssues = found('issues_to_close')
export const flaggableItems = found('lost_items_to_flag')
export const erasableIssues = found('issues_to_erase')
export const erasableItems = found('lost_items_to_erase')

/** Looks at the clocks of an issue, and when to look again. */
export const checkClocks = async (trx: Trx, id: string): Promise<void> => {
  const held = await lockIssue(trx, id)
  if ((await noteMissed(trx, held)) === held) await writeIssue(trx, held, {})
}

/** Closes an issue that was resolved `issues.closeAfterDays` ago. */
export const closeResolved = async (trx: Trx, id: string): Promise<void> => {
  const held = await lockIssue(trx, id)
  if (held.status !== 'resolved' || held.resolvedAt === null) return
  const property = await sqlOne<{ settings: StoredSettings }>(trx, `select settings from property where id = ?`, [
    held.propertyId,
  ])
  const { closeAfterDays } = settingsOf(property?.settings ?? {}).issues
  if (held.now.getTime() - held.resolvedAt.getTime() < closeAfterDays * 86_400_000) return
  await close(trx, held, { outcome: 'resolved' })
}

/** Tells once that a found item need not be kept any longer. */
export const flagItem = async (trx: Trx, id: string): Promise<void> => {
  const item = await preparedOne<LostItemRow>(
    trx,
    `select * from lost_item where id = ? and status = 'open' and disposal_told_at is null for no key update`,
    [id],
  )
  if (!item) return
  const version = await changeRow(trx, LostItem, id, { disposalToldAt: expression('now()') })
  await tellItem(trx, lostItemDisposalDateReached, { ...item, version })
}

/** Erases the texts and files of issues; numbers, times, causes, scores and amounts stay (R20). */
export const eraseIssues = async (trx: Trx, ids: readonly string[]): Promise<void> => {
  for (const text of [
    `update issue_comment set sealed = null where issue_id = any(?::uuid[]) and sealed is not null`,
    `update issue_event set sealed = null where issue_id = any(?::uuid[]) and sealed is not null`,
    `update compensation set sealed = null, decision_sealed = null, version = version + 1 where issue_id = any(?::uuid[])`,
    `update issue set sealed = null, resolution_sealed = null, score_sealed = null, texts_erased_at = now(), version = version + 1
     where id = any(?::uuid[])`,
  ])
    await sql(trx, text, [ids])
  await removeAttachments(trx, 'issues', 'issue', ids)
}

/** Deletes the files of a guest's issues or lost items, with whose texts they go (R20). */
export const removeFilesOf =
  (type: 'issue' | 'lost_item') =>
  async (trx: Trx, guestIds: readonly string[]): Promise<void> => {
    const rows = await sql<{ id: string }>(trx, type === 'issue' ? issuesOfGuests : itemsOfGuests, { ids: guestIds })
    await removeAttachments(
      trx,
      'issues',
      type,
      rows.map(({ id }) => id),
    )
  }

/** Erases the texts, owners and files of lost items. */
export const eraseItems = async (trx: Trx, ids: readonly string[]): Promise<void> => {
  await sql(
    trx,
    `update lost_item set sealed = null, close_sealed = null, guest_id = null, reservation_id = null, texts_erased_at = now(), version = version + 1
     where id = any(?::uuid[])`,
    [ids],
  )
  await removeAttachments(trx, 'issues', 'lost_item', ids)
}
