#ifndef FAKEHIP_ENVIRONMENT_H
#define FAKEHIP_ENVIRONMENT_H

/* Takes everything from the environment again. Lock held. */
void environment_reset(void);

#endif
