// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The messages of ONNX files, as Debian's library has them: those of ONNX-ML, which are the usual ones and
// more.
#pragma once

#ifndef ONNX_ML
#define ONNX_ML 1
#endif
#include <onnx/onnx_pb.h>
