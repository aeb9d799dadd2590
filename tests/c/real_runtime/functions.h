/* Where every function leads. */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

/* Prints for every function of the manifest, after all that exist are bound:
 *
 *   function NAME | HAS | SYMBOL | SLOT
 *
 * HAS is hiplazy_has's answer, SYMBOL the file that hiplazy_symbol's address lies in
 * ("-" for NULL), SLOT the file that the wrapper's jump leads into. */
void functions(void);

#endif
