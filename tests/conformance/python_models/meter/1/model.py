# SPDX-License-Identifier: Apache-2.0
"""Has its own metrics."""

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        make = pb_utils.MetricFamily
        self.families = [
            make(name="meter_total", description="What came in", kind=make.COUNTER),
            make(name="meter_level", description="What came last", kind=make.GAUGE),
            make(name="meter_sizes", description="What sizes came", kind=make.HISTOGRAM),
        ]
        labels = {"model": "meter", "place": "küche"}
        self.total = self.families[0].Metric(labels=labels)
        self.level = self.families[1].Metric(labels=labels)
        self.sizes = self.families[2].Metric(labels=labels, buckets=[1.0, 10.0])

    def execute(self, requests):
        responses = []
        for request in requests:
            value = float(pb_utils.get_input_tensor_by_name(request, "IN").as_numpy()[0])
            self.total.increment(value)
            self.level.set(value)
            self.sizes.observe(value)
            out = np.array([self.total.value(), self.level.value()], np.float64)
            responses.append(pb_utils.InferenceResponse([pb_utils.Tensor("OUT", out)]))
        return responses
