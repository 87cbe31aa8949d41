import { isCpf } from '../../config/tax-ids.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { conflict } from '../../config/errors.ts'
import { blindIndex, seal, unseal } from '../lib/sealing/index.ts'

/** The tax number of a book in its row. That of a natural person stands in `sealed`, any other one in `document`. */
type KeptDocument = { document: string | null; sealed: Buffer | null; documentIndex: Buffer | null }

const place = (bookId: string) => ({ table: 'book', rowId: bookId, purpose: 'document' })
const bare = (document: string) => document.toUpperCase().replace(/[^0-9A-Z]/g, '')
const isOfPerson = (countryCode: string, document: string) => countryCode === 'BR' && isCpf(document)

/** The number as the row keeps it: of Brazil without dots, a CPF sealed. 409 `duplicate_code` where another book still has the CPF plain. */
export const keptDocument = async (
  trx: Trx,
  book: { id: string; countryCode: string },
  document: string | null,
): Promise<KeptDocument> => {
  const number = document !== null && book.countryCode === 'BR' ? bare(document) : document
  if (number === null || !isOfPerson(book.countryCode, number))
    return { document: number, sealed: null, documentIndex: null }
  const twin = await sqlOne(
    trx,
    `select id from book where tenant_id = ? and country_code = 'BR' and id <> ? and regexp_replace(document, '[^0-9A-Za-z]', '', 'g') = ?`,
    [contextOf(trx).tenantId, book.id, number],
  )
  if (twin) throw conflict('duplicate_code', 'Another book has this document')
  return {
    document: null,
    sealed: await seal(trx, 'tenant', place(book.id), { document: number }),
    documentIndex: blindIndex(trx, 'document', number),
  }
}

/** The tax number of a book, opened. */
export const bookDocument = async (
  trx: Trx,
  { id, document, sealed }: { id: string } & Pick<KeptDocument, 'document' | 'sealed'>,
): Promise<string | null> =>
  sealed === null ? document : (await unseal<{ document: string }>(trx, 'tenant', place(id), sealed)).document

/**
 * Seals the numbers of persons that books of an earlier release have plain. Of two books with one number, written apart, the second has no index, so that both stay
 * as they are. A second call finds none.
 */
export const sealBookDocuments = async (trx: Trx): Promise<void> => {
  const { tenantId } = contextOf(trx)
  const plain = await sql<{ id: string; document: string }>(
    trx,
    `select id, document from book where tenant_id = ? and country_code = 'BR' and document is not null order by id for no key update`,
    [tenantId],
  )
  for (const { id, document } of plain.filter((book) => isOfPerson('BR', book.document)))
    await sql(
      trx,
      `update book b set document = null, sealed = :sealed, document_index = case when not exists (
           select from book o where o.tenant_id = b.tenant_id and o.country_code = b.country_code and o.document_index = :index) then cast(:index as bytea) end
       where b.tenant_id = :tenantId and b.id = :id`,
      {
        tenantId,
        id,
        sealed: await seal(trx, 'tenant', place(id), { document: bare(document) }),
        index: blindIndex(trx, 'document', document),
      },
    )
}
