import type { NoticeStatus } from '../../../config/dunning.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { readPage, where } from '../../lib/paging.ts'
import type { Page, Paging } from '../../lib/paging.ts'
import { readRow } from '../../lib/records.ts'
import type { DunningNoticeRow } from '../../rows.ts'
import { DunningRun } from './runs.ts'
import type { RunRecord } from './runs.ts'

/** A page of runs, the latest first. */
export const listRuns = (trx: Trx, filter: Paging & { bookId?: string | undefined }): Promise<Page<RunRecord>> =>
  readPage<RunRecord>(
    trx,
    {
      columns: 'd.*',
      from: 'dunning_run d',
      conditions: [
        { text: 'd.tenant_id = ?', values: [contextOf(trx).tenantId] },
        ...where('d.book_id = ?', filter.bookId),
      ],
      order: 'd.run_on desc, d.id',
    },
    filter,
  )

/** 404. */
export const readRun = (trx: Trx, id: string): Promise<RunRecord> => readRow(trx, DunningRun, id)

export type NoticeListed = DunningNoticeRow & { number: string | null; runOn: string }
export type NoticeFilter = Paging & {
  runId?: string | undefined
  customerId?: string | undefined
  receivableId?: string | undefined
  status?: string | undefined
}

/** A page of notices, those of the latest run first. */
export const listNotices = (trx: Trx, filter: NoticeFilter): Promise<Page<NoticeListed>> =>
  readPage<NoticeListed>(
    trx,
    {
      columns: `n.*, d.run_on, (select r.number_prefix || r.number from receivable r where r.tenant_id = n.tenant_id and r.id = n.receivable_id) as number`,
      from: 'dunning_notice n join dunning_run d on d.tenant_id = n.tenant_id and d.id = n.dunning_run_id',
      counted: { list: 'dunning_notice', as: 'n' },
      conditions: [
        { text: 'n.tenant_id = ?', values: [contextOf(trx).tenantId] },
        ...where('n.dunning_run_id = ?', filter.runId),
        ...where('n.customer_id = ?', filter.customerId),
        ...where('n.receivable_id = ?', filter.receivableId),
        ...where('n.status = ?', filter.status),
      ],
      order: 'd.run_on desc, n.customer_id, n.due_on, n.id',
    },
    filter,
  )

export type NoticeOfReceivable = {
  id: string
  installmentId: string
  level: number
  status: NoticeStatus
  skipReason: string | null
  runOn: string
}

/** Reminders of a receivable, the latest first. */
export const noticesOf = (trx: Trx, receivableId: string): Promise<NoticeOfReceivable[]> =>
  sql<NoticeOfReceivable>(
    trx,
    `select n.id, n.installment_id, n.level, n.status, n.skip_reason, d.run_on from dunning_notice n
     join dunning_run d on d.tenant_id = n.tenant_id and d.id = n.dunning_run_id
     where n.tenant_id = ? and n.receivable_id = ? order by d.run_on desc, n.installment_id, n.level desc limit 500`,
    [contextOf(trx).tenantId, receivableId],
  )
