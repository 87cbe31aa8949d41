import { create, link, record } from './make.ts'
import { allocate, cancel, capture, refund } from './moves.ts'
import { list, read, sync } from './read.ts'

/** Those with a path of their own come before those of one payment. */
export const collectionRoutes = [list, create, record, link]
export const oneRoutes = [read, capture, cancel, sync, allocate, refund]
