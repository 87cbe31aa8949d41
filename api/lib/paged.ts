import { Obj, PageOf, PageQuery, pageMeta } from '../../config/schema.ts'
import type { Properties, Schema, Static } from '../../config/schema.ts'
import type { Page, Paging } from '../../db/lib/paging.ts'
import type { Access } from './access/kinds.ts'
import type { AnyRoute, Input, Loose, RouteOptions } from './route.ts'

type Given<F extends Properties> = { query: Static<ReturnType<typeof Obj<F>>> & Paging }

type PagedOptions<A extends Access, Path extends string, F extends Properties, R extends Schema> = RouteOptions & {
  path: Path
  access: A
  /** Filters beside `page` and `limit`. */
  query?: F
  /** One record of the list. */
  of: R
  /** Reads one page, in an order that ends with the id. */
  find: (
    input: Omit<Input<A, Path, undefined, undefined, undefined, undefined>, 'query'> & Given<F>,
  ) => Promise<Page<Loose<Static<R>>>>
}

/** A list in pages, as a route: `page` and `limit` in, the records with their number out. */
export const paged = <
  const A extends Access,
  const Path extends string,
  R extends Schema,
  F extends Properties = Record<never, never>,
>({
  query,
  of,
  find,
  ...options
}: PagedOptions<A, Path, F, R>): AnyRoute => ({
  ...options,
  method: 'GET',
  query: Obj({ ...PageQuery, ...query }),
  returns: PageOf(of),
  handle: async (input: Parameters<typeof find>[0]) => {
    const { total, rows } = await find(input)
    return { data: rows, meta: pageMeta(input.query.page, input.query.limit, total) }
  },
})
