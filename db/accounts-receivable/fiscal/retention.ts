import { contextOf, sql } from '../../lib/connection.ts'
import type { PlatformTrx, Trx } from '../../lib/connection.ts'
import { changeRow, expression } from '../../lib/records.ts'
import { blobs } from '../../lib/sealing/index.ts'
import { FiscalDocument } from './models.ts'
import type { FiscalRecord } from './models.ts'
import { openSnapshot, sealSnapshot } from './state.ts'

const atOnce = 100

/** Ended documents whose eleven years are over. */
export const fiscalToErase = (trx: PlatformTrx): Promise<{ tenantId: string; id: string }[]> =>
  sql(trx, `select tenant_id, id from fiscal_documents_to_erase(?)`, [atOnce])

/** Takes out of old documents what names a person: taker, texts and file. Numbers and amounts stay. */
export const eraseFiscal = async (trx: Trx, ids: readonly string[]): Promise<void> => {
  const rows = await sql<FiscalRecord>(
    trx,
    `select * from fiscal_document where tenant_id = ? and id = any(?::uuid[]) and erased_at is null order by id for update skip locked`,
    [contextOf(trx).tenantId, ids],
  )
  for (const row of rows) {
    const snapshot = await openSnapshot(trx, row)
    const { isPerson, countryCode } = snapshot.taker
    await changeRow(trx, FiscalDocument, row.id, {
      erasedAt: expression('now()'),
      serviceText: '',
      cancelReason: row.cancelReason === null ? null : 'erased',
      xmlBlobId: null,
      snapshot: await sealSnapshot(trx, row.id, {
        ...snapshot,
        taker: { name: 'erased', isPerson, countryCode, document: null, address: null, email: null },
        service: { ...snapshot.service, text: '' },
      }),
    })
  }
  await blobs.remove(
    trx,
    rows.flatMap(({ xmlBlobId }) => xmlBlobId ?? []),
  )
}

/** Customers who are erased guests, and whose latest document is eleven years old. */
export const customersToForget = (trx: PlatformTrx): Promise<{ tenantId: string; id: string }[]> =>
  sql(trx, `select tenant_id, id from erased_customers_to_forget(?)`, [atOnce])

/** Takes name and number off customers whose documents the law wants no more. */
export const forgetCustomers = async (trx: Trx, ids: readonly string[]): Promise<void> => {
  await sql(
    trx,
    `update customer set legal_name = 'erased', trade_name = '', document = null, search = 'erased', identity = null, version = version + 1
     where tenant_id = ? and id = any(?::uuid[])`,
    [contextOf(trx).tenantId, ids],
  )
}
