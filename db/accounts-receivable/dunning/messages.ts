import { dunningNoticeFailed, dunningNoticeSent } from '../../../config/events/fiscal.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emitAll } from '../../lib/events.ts'
import { formatDay, formatMoney } from '../../ocp/index.ts'
import type { MessageOwner } from '../../ocp/index.ts'
import type { DunningNoticeRow } from '../../rows.ts'
import { debtorsOf } from '../sending/recipients.ts'

type Of = { dunningRunId: string; customerId: string; channel: string }
const ofData = (data: Readonly<Record<string, string>>): Of => ({
  dunningRunId: data['dunningRunId'] ?? '',
  customerId: data['customerId'] ?? '',
  channel: data['channel'] ?? '',
})

const tellAll = (trx: Trx, event: typeof dunningNoticeSent, rows: readonly DunningNoticeRow[]) =>
  emitAll(
    trx,
    event,
    rows.map(({ id, version, dunningRunId, receivableId, customerId, level }) => ({
      propertyId: null,
      id,
      version,
      data: { dunningRunId, receivableId, customerId, level },
    })),
  )

const ofMessage = `n.tenant_id = :tenantId and n.dunning_run_id = :dunningRunId and n.customer_id = :customerId and :channel = any(n.channels)`

type Line = { level: number; number: string | null; dueOn: string; open: number; currency: string }

/** The open lines of the documents that a message is about. */
const linesOf = (trx: Trx, of: Of): Promise<Line[]> =>
  sql<Line>(
    trx,
    `select n.level, r.number_prefix || r.number as number, i.due_on, i.open, r.currency from dunning_notice n
     join receivable r on r.tenant_id = n.tenant_id and r.id = n.receivable_id and r.status in ('issued', 'partly_paid')
     join receivable_installment i on i.tenant_id = n.tenant_id and i.receivable_id = r.id and i.id = n.installment_id and i.open > 0
     where ${ofMessage} and n.status in ('queued', 'sent') order by i.due_on, i.id`,
    { tenantId: contextOf(trx).tenantId, ...of },
  )

const mostLines = 100

/** SQL: the installment `i` of a notice `n` was dated anew, and has not reached its step on the day of the run `d` any more. */
const isDatedAnew = `i.due_on > n.due_on and i.due_on + (select cast(s->>'days' as int) from jsonb_array_elements(d.steps) s where cast(s->>'level' as int) = n.level) > d.run_on`

/** SQL: the installment `i` of a document `r` was paid, voided, paused or dated anew since the run `d` noticed it by `n`. Null is no. */
export const isOver = `(r.status not in ('issued', 'partly_paid') or i.open = 0 or r.dunning_paused_until >= d.run_on or ${isDatedAnew})`

/** Reminders: what was paid, voided, paused or dated anew since the run is not written about, and where nothing is left the message is not sent (R16). */
export const dunningMessages: MessageOwner = {
  templateKey: 'dunning-notice',
  field: 'dunningRunId',
  refusal: async (trx, { data }) => {
    const of = ofData(data)
    await sql(
      trx,
      `update dunning_notice n set status = 'skipped', version = n.version + 1,
         skip_reason = case when r.status not in ('issued', 'partly_paid') or i.open = 0 then 'settled'
           when r.dunning_paused_until >= d.run_on then 'paused' else 'rescheduled' end
       from receivable r, receivable_installment i, dunning_run d
       where ${ofMessage} and n.status = 'queued' and r.tenant_id = n.tenant_id and r.id = n.receivable_id
         and i.tenant_id = n.tenant_id and i.receivable_id = r.id and i.id = n.installment_id and d.tenant_id = n.tenant_id and d.id = n.dunning_run_id
         and ${isOver}`,
      { tenantId: contextOf(trx).tenantId, ...of },
    )
    return (await linesOf(trx, of)).length === 0 ? 'settled' : null
  },
  values: async (trx, { data }, locale) => {
    const of = ofData(data)
    const lines = await linesOf(trx, of)
    const [debtor] = await debtorsOf(trx, [of.customerId])
    const currency = lines[0]?.currency ?? 'BRL'
    const shown = lines.slice(0, mostLines).map(({ number, dueOn, open }) => {
      const parts = [number ?? '', formatDay(dueOn, locale), formatMoney(open, currency, locale)]
      return parts.filter(Boolean).join('  ')
    })
    return {
      'receivable.customer': debtor?.name ?? null,
      'dunning.level': Math.max(...lines.map(({ level }) => level), 1),
      'dunning.installments': [...shown, ...(lines.length > mostLines ? ['…'] : [])].join('\n') || null,
      'dunning.total': { type: 'money', amount: lines.reduce((sum, { open }) => sum + open, 0), currency },
    }
  },
  ended: async (trx, { id, data }, status, cause) => {
    const { tenantId } = contextOf(trx)
    const of = ofData(data)
    if (status === 'sent') {
      const rows = await sql<DunningNoticeRow>(
        trx,
        `update dunning_notice n set status = 'sent', skip_reason = null, version = n.version + 1
         where ${ofMessage} and n.status in ('queued', 'failed') and cast(:id as uuid) = any(n.message_ids) returning *`,
        { tenantId, ...of, id },
      )
      await tellAll(trx, dunningNoticeSent, rows)
      return
    }
    const rows = await sql<DunningNoticeRow>(
      trx,
      `update dunning_notice n set status = 'failed', skip_reason = :cause, version = n.version + 1
       where ${ofMessage} and n.status = 'queued' and cast(:id as uuid) = any(n.message_ids)
         and not exists (select from message m where m.tenant_id = n.tenant_id and m.id = any(n.message_ids)
           and m.status in ('scheduled', 'queued', 'sending', 'sent', 'delivered', 'read')) returning *`,
      { tenantId, ...of, id, cause: cause ?? status },
    )
    await tellAll(trx, dunningNoticeFailed, rows)
  },
}
